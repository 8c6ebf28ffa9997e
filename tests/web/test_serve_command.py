"""`cranfield serve` as people type it: what it refuses, and what it does besides serving."""

from __future__ import annotations

import re
import socket
import ssl
import subprocess
import urllib.request
from pathlib import Path

import pytest
from sqlalchemy import text

from commands import command_line
from cranfield.errors import UsageError
from cranfield.web.serving import open_folder
from cranfield.web.settings import ServerSettings
from crowds import free_port
from databases import Cluster
from needed import needs
from ponds import pond
from server_process import process
from sites import Site, link_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a project."""
    settings = ServerSettings(folder=tmp_path / "data")
    store = open_folder(settings)
    site = Site(settings, store)
    pond(site)
    site.member("ann", "ducks", "owner")
    store.close()
    return settings.folder


REFUSED = {
    "--host 0.0.0.0": "--host 0.0.0.0 would send passwords over the network as they are: give --certificate and "
    "--certificate-key, or --proxy with the address of the proxy that speaks https",
    "--host 0.0.0.0 --proxy 10.0.0.1": "--host other than loopback needs --name, the name by which browsers reach the "
    "server",
    "--certificate {file}": "a certificate and its key go together: --certificate FILE --certificate-key FILE",
    "--certificate-key {file}": "a certificate and its key go together: --certificate FILE --certificate-key FILE",
    "--check --reset-link ann": "one thing at a time: --check or --reset-link",
    "--check --collections {file}": "--collections is for serving, not for --check",
    "--db mysql://x": "--db takes postgresql://…, not mysql://…; SQLite needs no --db",
}


@pytest.mark.parametrize("options", REFUSED)
def test_what_is_refused(folder: Path, options: str) -> None:
    (folder / "file").write_text("x")
    done = command_line("serve", folder, *options.format(file=folder / "file").split())
    assert (done.exit, done.stderr) == (2, f"cranfield: {REFUSED[options]}\n")


@pytest.mark.parametrize("act", ["--check", "--reset-link ann", "--backup {new}"])
def test_a_folder_without_a_server_is_told(tmp_path: Path, act: str) -> None:
    done = command_line("serve", tmp_path / "none", *act.format(new=tmp_path / "new").split())
    assert done.exit == 2
    assert "has no database: cranfield serve" in done.stderr
    assert not (tmp_path / "none").exists()


def test_a_backup_of_a_folder_that_is_served_says_to_stop_the_server(folder: Path, tmp_path: Path) -> None:
    """It used to say to ask the server, which cannot make one; the help says when one can be made."""
    store = open_folder(ServerSettings(folder=folder))
    done = command_line("serve", folder, "--backup", tmp_path / "new")
    store.close()
    assert done.exit == 2
    assert "a folder with SQLite is for one at a time; stop the other first, as a server is stopped by" in done.stderr
    told = " ".join(command_line("serve", "--help").stdout.split())
    assert "A folder with SQLite is backed up while its server is stopped; with PostgreSQL it may run." in told


def test_a_port_that_is_taken_is_told(folder: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = command_line("serve", folder, "--port", port)
    assert done.exit == 2
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use; choose another --port" in done.stderr


def test_check_tells_what_is_well_and_what_is_not(folder: Path) -> None:
    well = command_line("serve", folder, "--check")
    assert (well.exit, well.stderr) == (0, "")
    assert "ok    judgements of ducks\n" in well.stdout
    assert re.search("^ok    documents of [0-9a-f]{32}$", well.stdout, re.MULTILINE)
    store = open_folder(ServerSettings(folder=folder))
    with store.writing() as connection:
        connection.execute(text("UPDATE pair SET opinions = 1"))
    store.close()
    ill = command_line("serve", folder, "--check")
    assert ill.exit == 3
    assert "WRONG judgements of ducks: 6 differences, the first: pair" in ill.stdout
    assert "1 of the above is not as it should be" in ill.stderr


def test_backup_and_restore(folder: Path, tmp_path: Path, cluster: Cluster) -> None:
    saved, address = tmp_path / "saved", cluster.new_database()
    done = command_line("serve", folder, "--backup", saved)
    assert (done.exit, done.stdout) == (0, f"backup of {folder} in {saved}\n")
    again = command_line("serve", folder, "--backup", saved)
    assert again.exit == 2
    assert "is there and not empty" in again.stderr
    back = command_line("serve", tmp_path / "back", "--restore", saved, "--db", address)
    assert (back.exit, back.stdout) == (0, f"restored {saved} into {tmp_path / 'back'}\n")
    well = command_line("serve", tmp_path / "back", "--check", "--db", address)
    assert well.exit == 0
    assert "ok    PostgreSQL answers\n" in well.stdout
    assert "ok    judgements of ducks\n" in well.stdout


def test_a_backup_of_a_folder_that_is_not_whole_says_so(folder: Path, tmp_path: Path) -> None:
    """The copy is made all the same, and its restoring tells the same."""
    (documents,) = folder.glob("collections/*/documents.store")
    documents.unlink()
    wrong = f"WRONG documents of {documents.parent.name}: documents.store is missing: copy it from a backup\n"
    saved, back = tmp_path / "saved", tmp_path / "back"
    done = command_line("serve", folder, "--backup", saved)
    told = f"backup of {folder} in {saved}"
    assert (done.exit, done.stdout) == (3, f"{told}\n{wrong}")
    assert done.stderr == f"cranfield: {told}, but 1 of its files is not as it should be\n"
    restored = command_line("serve", back, "--restore", saved)
    told = f"restored {saved} into {back}"
    assert (restored.exit, restored.stdout) == (3, f"{told}\n{wrong}")
    assert restored.stderr == f"cranfield: {told}, but 1 of its files is not as it should be\n"
    checked = command_line("serve", back, "--check")
    assert (checked.exit, wrong in checked.stdout) == (3, True)


def test_a_link_for_who_forgot_their_password(folder: Path) -> None:
    done = command_line("serve", folder, "--reset-link", "ann", "--port", "8123")
    assert (done.stdout.startswith("http://localhost:8123/invite/"), done.stderr) == (True, "")
    usual = command_line("serve", folder, "--reset-link", "ann")
    assert usual.stderr == "the link is for a server on http://localhost:8000: else say --host, --port or --name\n"
    settings = ServerSettings(folder=folder)
    store = open_folder(settings)
    page = Site(settings, store).stranger().get(link_of(usual.stdout))
    store.close()
    assert "A new password for ann" in page.text
    nobody = command_line("serve", folder, "--reset-link", "bob")
    assert (nobody.exit, nobody.stderr) == (2, "cranfield: there is no account 'bob'\n")


def test_names_and_proxies_stand_in_links(folder: Path) -> None:
    done = command_line("serve", folder, "--reset-link", "ann", "--name", "judge.example", "--proxy", "10.0.0.1")
    assert (done.stdout.startswith("https://judge.example/invite/"), done.stderr) == (True, "")


def test_https(tmp_path: Path) -> None:
    """A server with a certificate of its own; cookies are then for https alone."""
    openssl = needs("openssl", package="openssl")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    made: list[str | Path] = [
        openssl,
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-keyout",
        key,
        "-out",
        certificate,
    ]
    subprocess.run([*made, *subject], check=True, capture_output=True)
    port = free_port()
    trusted = ssl.create_default_context(cafile=str(certificate))
    more = ["--certificate", str(certificate), "--certificate-key", str(key)]
    with (
        process(tmp_path / "data", "", port, more, trusted),
        urllib.request.urlopen(f"https://localhost:{port}/login", context=trusted) as page,
    ):
        assert page.status == 200
        assert page.headers["strict-transport-security"] == "max-age=31536000"


def test_a_database_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = command_line("serve", tmp_path / "data", "--db", f"postgresql://judge@/none?host={tmp_path}")
    assert done.exit == 2
    assert done.stderr.startswith("cranfield: the database cannot be reached: ")
    assert "Traceback" not in done.stderr


def test_the_examples_of_the_help(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that end by themselves are run one after another; the others are the first two."""
    monkeypatch.chdir(tmp_path)
    folder.rename("judging")
    lines = command_line("serve", "--help").stdout.splitlines()
    examples = [line.strip().removeprefix("$ cranfield ").split() for line in lines if line.strip().startswith("$ ")]
    assert [example[:2] for example in examples[:2]] == [["serve", "demo"], ["serve", "judging"]]
    for example in examples[2:]:
        assert command_line(*example).exit == 0, example


def test_a_file_is_no_folder_for_data(tmp_path: Path) -> None:
    """What is there stays, and the message says what to name instead."""
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"notes\.txt' is a file: name a folder for the data of the server"):
        open_folder(ServerSettings(folder=tmp_path / "notes.txt"))
    assert (tmp_path / "notes.txt").read_text() == "mine"

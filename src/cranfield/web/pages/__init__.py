"""What people see. A module has a router; its handlers parse, call one function elsewhere, and render a template."""

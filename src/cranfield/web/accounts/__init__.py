"""Who a visitor is and what they may do: passwords, sessions, tokens, invitations, roles."""

"""What is made of judgements: how far they agree, who decides where they do not, and what is released."""

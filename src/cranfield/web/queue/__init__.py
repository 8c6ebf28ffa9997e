"""What is asked next while judging goes on: methods that learn put documents into the queue as they learn."""

"""What a partition is to receipts: its variables, its batch, its window."""

"""Asset checks that ask about receipts."""

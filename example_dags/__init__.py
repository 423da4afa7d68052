"""The main job on two schedulers: a monthly calculation, and a payment that waits for it."""

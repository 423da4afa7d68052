"""For those who write a store or a hash engine: the tests it must pass."""

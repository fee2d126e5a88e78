package originals

func isSymlink(error) bool { return false }

// checkOwner relies on the access lists of the user's folders.
func checkOwner(string) error { return nil }

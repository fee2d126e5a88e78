package records

// openSafely adds nothing: there are no pipes among files.
const openSafely = 0

// syncFolder does nothing: a folder cannot be forced to the disk here.
func syncFolder(string) error { return nil }

package atomicfile

// NoFollow adds nothing: there are no pipes among files.
const NoFollow = 0

package atomicfile

// NoFollow is zero: files cannot be pipes here.
const NoFollow = 0

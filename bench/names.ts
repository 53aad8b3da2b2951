export const numberMark = '00000000'

/** As many digits whatever the number, so that a load can put one in the place of another. */
export const numbered = (index: number) => String(index).padStart(numberMark.length, '0')
export const groupId = (index: number) => `bench-group-${numbered(index)}`
export const groupToken = (index: number) => `bench-token-of-group-${numbered(index)}`

/**
 * What we use of node:http. An import would have Node load all that it offers, in order to know the names, clients for
 * other protocols among it: that takes 4 MB, and a tenth of the time of every start.
 */
export const { createServer, STATUS_CODES, validateHeaderValue } = process.getBuiltinModule('node:http')

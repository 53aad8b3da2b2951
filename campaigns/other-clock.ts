/** Preloaded into a process of the service: its clock is CLOCK_SKEW milliseconds off, as another machine's may be. */
const { now } = Date
const skew = Number(process.env.CLOCK_SKEW)

Date.now = () => now() + skew

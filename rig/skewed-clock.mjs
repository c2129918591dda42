// Loaded by --import into a process whose clock is to be wrong by RIG_SKEW_MS; timers keep their pace, as they do when a clock is set.
const skew = Number(process.env.RIG_SKEW_MS ?? 0)
const RealDate = Date
globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + skew)
    else super(...given)
  }
  static now() {
    return RealDate.now() + skew
  }
}

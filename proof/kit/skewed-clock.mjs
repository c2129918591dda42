// Loaded by --import into a process: shifts its clock by PROOF_SKEW_MS, or runs it PROOF_PACE times as fast since
// PROOF_PACE_SINCE. Timers keep their pace, as when a real clock is set.
const skew = Number(process.env.PROOF_SKEW_MS ?? 0)
const pace = Number(process.env.PROOF_PACE ?? 1)
const since = Number(process.env.PROOF_PACE_SINCE ?? 0)
const RealDate = Date
const now = () => Math.round(since + (RealDate.now() - since) * pace) + skew
globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(now())
    else super(...given)
  }
  static now() {
    return now()
  }
}

// Loaded by --import into a process: runs its clock PROOF_PACE times as fast since PROOF_PACE_SINCE. Timers keep their pace.
const pace = Number(process.env.PROOF_PACE ?? 1)
const since = Number(process.env.PROOF_PACE_SINCE ?? 0)
const RealDate = Date
const now = () => Math.round(since + (RealDate.now() - since) * pace)
globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(now())
    else super(...given)
  }
  static now() {
    return now()
  }
}

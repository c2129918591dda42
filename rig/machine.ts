import { cpus, release, totalmem, type } from 'node:os'

/** The machine that figures come from, in one line. */
export const machine = (): string => {
  const [first] = cpus()
  const model = first?.model.trim() || 'processor of an unknown model'
  return `${cpus().length} cores (${model}), ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}, Node ${process.versions.node}`
}

import { cpus, release, totalmem, type } from 'node:os'

/** Describes the measuring machine in one line. */
export const machine = (): string => {
  const [first] = cpus()
  const model = first?.model.trim() || 'processor of an unknown model'
  return `${cpus().length} cores (${model}), ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}, Node ${process.versions.node}`
}

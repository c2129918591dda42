import { type Readable, Transform } from 'node:stream'
import type { AnyOperation } from '@portcullis/contract'
import { compiledOf } from './compiled.ts'
import { schemaFaults } from './read-body.ts'

/** A streamed answer is kept up to here while it passes; a longer one is not checked. */
const keptBytes = 16 * 1024 * 1024

/** Compares JSON answers with the contract; one that differs is an error that names the operation and what is wrong. */
export const answerChecks = () => {
  function check(operation: AnyOperation, text: string): void {
    const compiled = compiledOf(operation.response)
    const value: unknown = JSON.parse(text)
    if (!compiled.Check(value))
      throw new Error(
        `${operation.id} answers what its contract does not say: ${JSON.stringify(schemaFaults(compiled.Errors(value) as never, 'response').slice(0, 5))}`,
      )
  }

  /** The same answer, broken off at its end when it is not as it should be. */
  function checkStream(operation: AnyOperation, answer: Readable, failed: (error: Error) => void): Readable {
    let kept: Buffer[] = []
    let size = 0
    const passing = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        size += chunk.length
        if (size > keptBytes) kept = []
        else kept.push(Buffer.from(chunk))
        done(null, chunk)
      },
      flush: (done) => {
        try {
          if (size <= keptBytes) check(operation, Buffer.concat(kept).toString('utf8'))
          done()
        } catch (error) {
          failed(error as Error)
          done(error as Error)
        }
      },
    })
    answer.once('error', (error) => passing.destroy(error))
    passing.once('close', () => answer.destroy())
    return answer.pipe(passing)
  }

  return { check, checkStream }
}

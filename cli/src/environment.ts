import { missingVariables, unitEnvironment } from './unit-environment.ts'

/** Returns an environment variable, or undefined if it is not set. */
export const variable = (name: string): string | undefined => process.env[name]

let unread: readonly string[] = []
let isAdopted = false

/**
 * Adds the environment of the service that PORTCULLIS_UNIT names, so that commands use the same data and database. The
 * packaged command sets this variable. Child processes inherit the result without the variable itself.
 */
export const adoptUnit = (): void => {
  const unit = process.env.PORTCULLIS_UNIT
  delete process.env.PORTCULLIS_UNIT
  if (unit === undefined || !/^(?:\/[^\0]*\/)?[\w@.:-]+\.service$/.test(unit)) return
  isAdopted = true
  const found = unitEnvironment(unit)
  unread = found.unread
  Object.assign(process.env, missingVariables(process.env, found.variables))
}

/** Returns whether the command uses the data of a service, as the packaged command does. */
export const usesUnit = (): boolean => isAdopted

/** Returns the files of the unit that this user cannot read. */
export const unreadUnitFiles = (): readonly string[] => unread

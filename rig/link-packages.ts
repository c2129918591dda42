/** Gives a copy of the checkout the packages of the original. */
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Links packages. Links to workspaces lead to the copy, because the original contract would be checked otherwise. */
export const linkPackages = (from: string, to: string): void => {
  if (!existsSync(from)) return
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    if (name === '@portcullis') {
      mkdirSync(join(to, name))
      for (const own of readdirSync(join(from, name))) symlinkSync(join(dirname(to), own), join(to, name, own))
    } else symlinkSync(join(from, name), join(to, name))
  }
}

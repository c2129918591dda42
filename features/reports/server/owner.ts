import { AppError } from '@portcullis/platform/server/app-error.ts'
import { type Actor, assertPermission } from '@portcullis/platform/server/http/actor.ts'
import {
  type Permission,
  permissionsOf,
  permissionTable,
  profileNames,
  type ReportListName,
  reportLists,
} from '#features/contract.ts'
import type { Owner } from './reports.read.ts'

const needs = (permission: Permission): string => profileNames[permissionTable[permission]]

/** Returns why the owner's current permissions do not allow a schedule; empty: they do. */
export const ownerProblem = (name: string, owner: Owner | undefined, list: ReportListName): string => {
  const cure = 'Save the schedule to take it over.'
  if (owner === undefined) return `The account of its owner ${name} was deleted. ${cure}`
  if (!owner.is_enabled) return `The account of its owner ${owner.user_name} is disabled. ${cure}`
  const permissions = permissionsOf(owner.user_profile)
  for (const permission of ['config:write', reportLists[list].file.permission] as const)
    if (!permissions.includes(permission))
      return `Its owner ${owner.user_name} now has the profile ${profileNames[owner.user_profile]}, but this report needs ${needs(permission)}. ${cure}`
  return ''
}

/** Throws if the caller may not read a list. */
export const assertMayRead = (actor: Pick<Actor, 'profile' | 'permissions'>, list: ReportListName): void => {
  const {
    title,
    file: { permission },
  } = reportLists[list]
  if (actor.profile > permissionTable[permission])
    throw new AppError('forbidden_object', { detail: `Your profile cannot read ${title}.` })
  assertPermission(actor, permission)
}

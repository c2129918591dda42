import {
  type Permission,
  permissionsOf,
  permissionTable,
  profileNames,
  type ReportListName,
  reportLists,
} from '@portcullis/contract'
import { AppError } from '#platform/app-error.ts'
import { type Actor, assertPermission } from '#platform/http/actor.ts'
import type { Owner } from './reports.read.ts'

const needs = (permission: Permission): string => profileNames[permissionTable[permission]]

/** Why a schedule may not run with the rights that its owner has now; empty: it may. */
export const ownerProblem = (name: string, owner: Owner | undefined, list: ReportListName): string => {
  const cure = 'Save the schedule to take it over.'
  if (owner === undefined) return `The account of its owner ${name} was deleted. ${cure}`
  if (!owner.is_enabled) return `The account of its owner ${owner.user_name} is disabled. ${cure}`
  const permissions = permissionsOf(owner.user_profile)
  for (const permission of ['config:write', reportLists[list].permission] as const)
    if (!permissions.includes(permission))
      return `Its owner ${owner.user_name} has profile ${profileNames[owner.user_profile]} now, and this needs ${needs(permission)}. ${cure}`
  return ''
}

/** Refuses who may not read a list. */
export const assertMayRead = (actor: Pick<Actor, 'profile' | 'permissions'>, list: ReportListName): void => {
  const { permission, title } = reportLists[list]
  if (actor.profile > permissionTable[permission])
    throw new AppError('forbidden_object', { detail: `Your profile cannot read ${title}.` })
  assertPermission(actor, permission)
}

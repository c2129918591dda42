import { apiPrefix, closed, operation, typedText, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

/** Maximum number of private views of an account, and of shared views. */
export const mostViews = 200
/** Maximum number of views that an account pins. */
export const mostPins = 20

const content = {
  page: Type.String({
    pattern: '^(/[a-z]{1,20}){1,3}$',
    description: 'Path of the page in the console, such as `/agents`.',
  }),
  name: typedText({ minLength: 1, maxLength: 60, description: 'Name on the tab. Unique per page, ignoring case.' }),
  search: Type.String({
    maxLength: 4_000,
    description:
      'Filters, search, order and columns as in the address of the page, without the question mark. Names that a later release does not have are kept, and the console names them.',
  }),
  isShared: Type.Boolean({ description: 'True: all accounts see the view. Needs the permission `fleet:write`.' }),
}

export const SavedView = closed({
  id: Type.String({ description: 'ID of the view.' }),
  ...content,
  owner: Type.String({ description: 'Account that saved the view. Empty: the account was deleted.' }),
  isOwn: Type.Boolean({ description: 'True if you saved the view.' }),
  isPinned: Type.Boolean({ description: 'True if your navigation shows the view.' }),
  changedAt: utcTime('Time of the last change.'),
})
export type SavedView = Static<typeof SavedView>

const SavedViewBody = closed(content)
const params = closed({ id: Type.String({ minLength: 1, maxLength: 64, description: 'ID of the view.' }) })
const path = `${apiPrefix}/views`
const example = {
  id: '01936f2a-7c11-7abc-8def-0123456789ab',
  page: '/agents',
  name: 'Armed kiosks',
  search: 'Status=Armed&Hashtags=kiosk',
  isShared: true,
}
const { id: _id, ...bodyExample } = example
const answer = { ...example, owner: 'admin', isOwn: true, isPinned: false, changedAt: '2031-05-04T10:11:12.345Z' }

export const listViews = operation({
  id: 'listViews',
  method: 'GET',
  path,
  tag: 'Views',
  summary: 'Lists your saved views and the shared ones',
  permission: 'self:read',
  response: closed({ data: Type.Array(SavedView) }),
  examples: { response: { data: [answer] } },
})

export const saveView = operation({
  id: 'saveView',
  method: 'POST',
  path,
  tag: 'Views',
  summary: 'Saves the filters, order and columns of a list under a name',
  description: `An account can have ${mostViews} private views, and a server ${mostViews} shared ones.`,
  permission: 'self:write',
  errors: ['conflict'],
  body: SavedViewBody,
  response: SavedView,
  examples: { request: bodyExample, response: answer },
})

export const updateView = operation({
  id: 'updateView',
  method: 'PUT',
  path: `${path}/{id}`,
  tag: 'Views',
  summary: 'Changes a saved view',
  description: 'You can change your own views. Administrators can change every shared view.',
  permission: 'self:write',
  errors: ['conflict', 'forbidden_object', 'not_found'],
  params,
  body: SavedViewBody,
  response: SavedView,
  examples: { request: bodyExample, response: answer },
})

export const deleteView = operation({
  id: 'deleteView',
  method: 'DELETE',
  path: `${path}/{id}`,
  tag: 'Views',
  summary: 'Deletes a saved view',
  description: 'You can delete your own views. Administrators can delete every shared view.',
  permission: 'self:write',
  errors: ['forbidden_object', 'not_found'],
  params,
  response: closed({ deleted: Type.String({ description: 'ID of the view.' }) }),
  examples: { response: { deleted: example.id } },
})

export const pinView = operation({
  id: 'pinView',
  method: 'PUT',
  path: `${path}/{id}/pin`,
  tag: 'Views',
  summary: 'Pins a saved view to your navigation, or unpins it',
  description: `An account can pin ${mostPins} views. Other accounts do not see the pins.`,
  permission: 'self:write',
  errors: ['conflict', 'not_found'],
  params,
  body: closed({ isPinned: Type.Boolean({ description: 'True: pin the view. False: unpin it.' }) }),
  response: SavedView,
  examples: { request: { isPinned: true }, response: { ...answer, isPinned: true } },
})

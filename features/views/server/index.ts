import { AppError, invalid, notFound } from '@portcullis/platform/server/app-error.ts'
import type { Context } from '@portcullis/platform/server/context.ts'
import { isPgError, type Tx } from '@portcullis/platform/server/db/db.ts'
import { type Actor, assertPermission } from '@portcullis/platform/server/http/actor.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import type { Audit } from '#features/audit/server/index.ts'
import {
  deleteView,
  listViews,
  mostPins,
  mostViews,
  pinView,
  profiles,
  type SavedView,
  saveView,
  updateView,
} from '#features/contract.ts'
import { createViewsStore, createViewWrites } from './views.store.ts'

type Content = Pick<SavedView, 'page' | 'name' | 'search' | 'isShared'>

/** Returns why a name is not accepted, or null. */
const nameFault = (name: string): string | null =>
  name.trim() === '' ? 'must not be empty' : /\p{C}/u.test(name) ? 'must not contain control characters' : null

/** Views of lists that people saved, private or shared. */
export const viewsFeature = (app: HttpApp, { db, clock, audit }: Context & { audit: Audit }): void => {
  const notYours = () =>
    new AppError('forbidden_object', {
      detail: 'Another account saved this view. Save it under another name.',
    })

  const changed = async (tx: Tx, actor: Actor, id: string): Promise<SavedView> => {
    const view = isId(id) ? await createViewsStore(tx).one(actor.accountId, id) : undefined
    if (view === undefined) throw notFound('No view has this ID.')
    if (!view.isOwn && actor.profile > profiles.administrator) throw notYours()
    if (view.isShared) assertPermission(actor, 'fleet:write')
    return view
  }

  /** Writes a view; `known` is the one that it replaces. */
  const put = async (actor: Actor, given: Content, id: string | null): Promise<SavedView> => {
    const name = given.name.trim().normalize('NFC')
    const fault = nameFault(name)
    if (fault !== null) throw invalid('body.name', fault)
    if (given.isShared) assertPermission(actor, 'fleet:write')
    try {
      return await db.transaction(async (tx) => {
        const writes = createViewWrites(tx)
        await writes.lock()
        const known = id === null ? null : await changed(tx, actor, id)
        if (known !== null && !known.isOwn && !given.isShared) throw notYours()
        const viewId = known?.id ?? newId(clock.now())
        if ((await writes.count(actor.accountId, given.isShared, viewId)) >= mostViews)
          throw new AppError('conflict', {
            detail: `There are already ${mostViews} ${given.isShared ? 'shared' : 'private'} views. Delete one first.`,
          })
        await writes.put({
          ...{ view_id: viewId, page: given.page, name, name_key: fold(name), search: given.search },
          ...{ is_shared: given.isShared, owner_id: actor.accountId, changed_at: new Date(clock.now()) },
        })
        const view = await createViewsStore(tx).one(actor.accountId, viewId)
        if (view === undefined) throw notFound('No view has this ID.')
        await audit.write(tx, actor, {
          action: 'view.saved',
          entity: name,
          details: `${given.isShared ? 'shared' : 'private'}, ${given.page}?${given.search}`,
          facts: [
            { name: 'Name', before: known?.name ?? '', after: name },
            { name: 'View', before: known?.search ?? '', after: given.search },
            { name: 'Shared', before: known === null ? '' : String(known.isShared), after: String(given.isShared) },
          ].filter(({ before, after }) => before !== after),
        })
        return view
      })
    } catch (error) {
      if (isPgError(error, '23505'))
        throw new AppError('conflict', { detail: `A view of this page has the name ${name}.` }, { cause: error })
      throw error
    }
  }

  const pin = (actor: Actor, id: string, isPinned: boolean): Promise<SavedView> =>
    db.transaction(async (tx) => {
      const { accountId } = actor
      if (accountId === null) throw new AppError('conflict', { detail: 'Only an account can pin a view.' })
      const writes = createViewWrites(tx)
      await writes.lock()
      const view = isId(id) ? await createViewsStore(tx).one(accountId, id) : undefined
      if (view === undefined) throw notFound('No view has this ID.')
      if (isPinned && !view.isPinned && (await writes.countPins(accountId)) >= mostPins)
        throw new AppError('conflict', { detail: `You already pinned ${mostPins} views. Unpin one first.` })
      await writes.pin(accountId, id, isPinned)
      return { ...view, isPinned }
    })

  app.register(pinView, ({ actor, params, body }) => pin(actor, params.id, body.isPinned))
  app.register(listViews, async ({ actor }) => ({ data: await createViewsStore(db).list(actor.accountId) }))
  app.register(saveView, ({ actor, body }) => put(actor, body, null))
  app.register(updateView, ({ actor, params, body }) => put(actor, body, params.id))
  app.register(deleteView, ({ actor, params }) =>
    db.transaction(async (tx) => {
      const writes = createViewWrites(tx)
      await writes.lock()
      const view = await changed(tx, actor, params.id)
      await writes.remove(view.id)
      await audit.write(tx, actor, {
        action: 'view.deleted',
        entity: view.name,
        details: `${view.page}?${view.search}`,
      })
      return { deleted: view.id }
    }),
  )
}

import { parseSearchText, searchText } from '@portcullis/platform/console/lib/view-state.ts'
import { code } from '@portcullis/platform/console/ui/code.ts'
import { createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { NotFound } from './NotFound.tsx'
import { PendingPage } from './PendingPage.tsx'
import { Gate } from './RequireSession.tsx'
import { RouteFailure } from './RouteFailure.tsx'
import { routeTree } from './routes.ts'

/** All addresses of the console. Search parameters are flat text, so that addresses are short and readable. */
export const createAppRouter = () => {
  const router = createRouter({
    routeTree,
    parseSearch: parseSearchText,
    stringifySearch: searchText,
    defaultPreload: 'intent',
    defaultPendingMs: 300,
    defaultPendingMinMs: 0,
    defaultPendingComponent: PendingPage,
    scrollRestoration: false,
  })
  const { routesById } = router
  routesById.__root__.update({ component: Outlet, notFoundComponent: NotFound, errorComponent: RouteFailure })
  routesById['/inside'].update({ component: Gate })
  routesById['/inside/$'].update({ component: NotFound })
  for (const route of Object.values(routesById)) {
    const load = route.options.staticData?.page
    if (load === undefined) continue
    const component = lazyRouteComponent(() =>
      code.load(async () => ({ default: Object.values(await load())[0] as ComponentType })),
    )
    route.update({ component, errorComponent: RouteFailure })
  }
  return router
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}

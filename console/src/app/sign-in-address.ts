import { identityConfirmedPage } from '@portcullis/features/contract.ts'

/** Pages other than the sign-in page that open without a session. */
export const openPages: readonly string[] = ['/set-password', '/wall', identityConfirmedPage]

/** Returns the sign-in address that leads back to an address, or null for a page that needs no session. */
export const signInFor = (pathname: string, search: string): string | null => {
  if (pathname === '/sign-in' || openPages.includes(pathname)) return null
  return pathname === '/' && search === '' ? '/sign-in' : `/sign-in?${new URLSearchParams({ next: pathname + search })}`
}

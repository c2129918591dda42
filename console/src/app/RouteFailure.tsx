import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { useRouter } from '@tanstack/react-router'

export const RouteFailure = ({ error }: { error: unknown }) => {
  const router = useRouter()
  return <ErrorState failure={error} retry={() => void router.invalidate()} />
}

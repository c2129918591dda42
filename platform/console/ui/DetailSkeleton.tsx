import { Skeleton, Stack } from './layout/layout.tsx'

/** Placeholder while details load. */
export const DetailSkeleton = () => (
  <Stack gap={14} pad="20px 16px" aria-busy="true">
    {[38, 60, 24, 92, 84, 88, 70, 90].map((width) => (
      <Skeleton key={width} height={12} width={`${width}%`} />
    ))}
  </Stack>
)

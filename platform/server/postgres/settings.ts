import { statfsSync } from 'node:fs'
import { totalmem } from 'node:os'
import type { Access } from './access.ts'
import { PORT } from './socket-dir.ts'

const MB = 1024 * 1024

export interface SettingsOptions {
  clusterDir: string
  socketDir: string
  access: Access
  /** False only for throw-away test clusters, which do not sync to disk. */
  durable: boolean
  memoryBytes?: number
  /** Size of the stored data in bytes. If absent, the buffers get the maximum size. */
  dataBytes?: number
}

/**
 * Returns the server's command line. It has all settings instead of postgresql.conf: it overrides ALTER SYSTEM, so the
 * settings that keep acknowledged reports safe cannot be switched off from inside.
 */
export function serverArguments(options: SettingsOptions): string[] {
  const settings = {
    listen_addresses: '',
    port: PORT,
    unix_socket_directories: options.socketDir,
    unix_socket_permissions: '0700',
    hba_file: options.access.hba,
    ident_file: options.access.ident,
    ...durability(options.durable),
    ...sizes(options.memoryBytes ?? availableMemory(), options),
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    log_line_prefix: '%m [%p] ',
    log_checkpoints: 'off',
    // The planner's default of 4 suits spinning disks and keeps it from using indexes.
    random_page_cost: '1.1',
    // Frequent statements are short: compiling them costs more than it saves.
    jit: 'off',
    dynamic_shared_memory_type: hasSharedMemory() ? 'posix' : 'mmap',
  }
  return ['-D', options.clusterDir, ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])]
}

const durability = (durable: boolean): Record<string, string> => {
  const value = durable ? 'on' : 'off'
  return { fsync: value, synchronous_commit: value, full_page_writes: value }
}

/**
 * Sets shared buffers to twice the size of the data: at least 256 MB, at most a quarter of the memory or 4 GB.
 * PostgreSQL writes 2 % of their size when it starts, which is 80 MB of 4 GB. A temporary cluster stays small.
 */
function sizes(
  memoryBytes: number,
  { durable, dataBytes = Number.POSITIVE_INFINITY }: Pick<SettingsOptions, 'durable' | 'dataBytes'>,
): Record<string, string> {
  const quarter = Math.floor(memoryBytes / 4 / MB)
  const useful = Math.max(256, Math.ceil((2 * dataBytes) / MB))
  const shared = durable ? clamp(Math.min(quarter, useful), 128, 4096) : 128
  return {
    shared_buffers: `${shared}MB`,
    effective_cache_size: `${clamp(quarter * 2, 256, 65_536)}MB`,
    work_mem: `${clamp(Math.floor(quarter / 64), 4, 32)}MB`,
    maintenance_work_mem: `${clamp(Math.floor(quarter / 4), 64, 512)}MB`,
    max_connections: durable ? '100' : '200',
    max_wal_size: durable ? '4GB' : '1GB',
    min_wal_size: durable ? '256MB' : '80MB',
    checkpoint_timeout: '15min',
    wal_compression: durable ? 'on' : 'off',
  }
}

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value))

/** Returns the memory available to this process, with a container's limit. */
function availableMemory(): number {
  const limit = process.constrainedMemory()
  return limit > 0 && limit < totalmem() ? limit : totalmem()
}

/** Returns whether /dev/shm is large enough. A container's default of 64 MB can be filled by one parallel query. */
function hasSharedMemory(): boolean {
  try {
    const shm = statfsSync('/dev/shm')
    return shm.bavail * shm.bsize >= 256 * MB
  } catch {
    return process.platform !== 'linux'
  }
}

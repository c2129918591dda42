interface Hashes {
  machine_id_hash: string | null
  smbios_hash: string | null
}

/** Returns an event that names other agents that look like the same machine, and what they have in common. */
export const duplicateEvents = <T extends object>(
  about: T,
  own: Hashes,
  others: readonly (Hashes & { host: string })[],
) => {
  const said = others.map(({ host, machine_id_hash, smbios_hash }) => {
    const hasSameId = machine_id_hash !== null && machine_id_hash === own.machine_id_hash
    if (smbios_hash === null || smbios_hash !== own.smbios_hash) return `Same machine ID as ${host}`
    return hasSameId ? `Same hardware and machine ID as ${host}` : `Same hardware as ${host}, reinstalled or cloned`
  })
  return others.length === 0 ? [] : [{ ...about, kind: 'duplicate' as const, details: said.join('; ').slice(0, 1000) }]
}

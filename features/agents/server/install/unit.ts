/** Paths of the agent on a host. Uninstalling removes exactly these. */
export const installPaths = {
  directory: '/usr/local/lib/portcullis',
  executable: '/usr/local/lib/portcullis/portcullis-agent',
  link: '/usr/local/sbin/portcullis-agent',
  unit: '/etc/systemd/system/portcullis-agent.service',
  rule: '/etc/udev/rules.d/00-portcullis.rules',
  waiter: '/usr/local/lib/portcullis/udev-wait',
  stateDir: '/var/lib/portcullis-agent',
  /** Settings of this host, for example its proxy. */
  settingsDir: '/etc/portcullis-agent',
} as const

/** Paths of the agent's package for Debian and Red Hat's distributions. State and settings are those of the script. */
export const packagePaths = {
  directory: '/usr/lib/portcullis-agent',
  executable: '/usr/lib/portcullis-agent/portcullis-agent',
  launcher: '/usr/lib/portcullis-agent/launcher',
  link: '/usr/bin/portcullis-agent',
  unit: '/usr/lib/systemd/system/portcullis-agent.service',
  rule: '/usr/lib/udev/rules.d/00-portcullis.rules',
  waiter: '/usr/lib/portcullis-agent/udev-wait',
  settings: `${installPaths.settingsDir}/agent.env`,
  token: `${installPaths.settingsDir}/token`,
} as const

export const unitName = 'portcullis-agent.service'

/**
 * Quotes one word of a unit file's ExecStart. systemd expands `%` (specifiers) and `$` (variables) and reads C escapes
 * inside double quotes (systemd.service(5), "Command lines"), so this doubles or escapes all of them.
 *
 * @throws RangeError for control characters: a line end would begin a new setting
 */
export const quoteUnitWord = (word: string): string => {
  if (/[\u0000-\u001f\u007f]/.test(word)) throw new RangeError('control characters cannot be part of a unit file')
  return `"${word.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`
}

/**
 * Returns the systemd unit of an agent that the install script installed. It contains no token: the script enrols the
 * host, and the unit only needs the address.
 *
 * @param serverUrl base address at which the host reaches the server
 */
export const agentUnit = ({ serverUrl }: { serverUrl: string }): string =>
  unitText({
    start: `${installPaths.executable} --server ${quoteUnitWord(serverUrl)} --state-dir ${installPaths.stateDir}`,
    restore: `/bin/sh -c 'e=${installPaths.executable}; [ -x "$$e.previous" ] && e="$$e.previous"; exec "$$e" restore --state-dir ${installPaths.stateDir}'`,
    writable: `# An update stores the next executable in this directory.
ReadWritePaths=${installPaths.directory}
`,
  })

/** Returns the systemd unit of the agent's package. It starts only on a host that is enrolled or has a token. */
export const packagedUnit = (): string =>
  unitText({
    conditions: `ConditionPathExists=|${installPaths.stateDir}/identity.json
ConditionPathExists=|${packagePaths.token}
`,
    start: packagePaths.launcher,
    restore: `${packagePaths.launcher} restore`,
  })

interface UnitParts {
  conditions?: string
  start: string
  restore: string
  writable?: string
}

const unitText = ({ conditions = '', start, restore, writable = '' }: UnitParts): string => `[Unit]
Description=Portcullis agent: reports USB devices and enforces the device policy
After=network-online.target
Wants=network-online.target
StartLimitIntervalSec=0
${conditions}
[Service]
Type=exec
EnvironmentFile=-${packagePaths.settings}
ExecStart=${start}
Restart=always
RestartSec=5
# When the agent ends in any way, new devices work as before arming until it starts again; blocked devices stay blocked.
# During an update, the previous version does this and counts failures, so that a broken executable is rolled back.
ExecStopPost=-${restore}
# 3: the server removed this agent. A restart would not help.
RestartPreventExitStatus=3
# A slow processor needs some seconds to load the program that frees the devices.
TimeoutStopSec=30
StateDirectory=portcullis-agent
StateDirectoryMode=0700
# The list of blocked devices for users of the host: portcullis-agent status.
RuntimeDirectory=portcullis-agent
RuntimeDirectoryMode=0755
UMask=0077
# The agent uses about 55 MB. A host with hundreds of devices needs more.
MemoryMax=200M
TasksMax=64

NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
${writable}# Allows wall to notify users at terminals of blocked devices. The other settings block all other access to terminals.
SupplementaryGroups=tty
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
# /sys stays writable, because the agent blocks devices there. MemoryDenyWriteExecute is omitted because a JavaScript
# engine writes code at run time.
LockPersonality=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
# AF_NETLINK: kernel events about devices, and the list of network interfaces.
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`

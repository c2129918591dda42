/**
 * The scripts for polled hosts. They are constant texts: no data of a connection, host or device is ever inserted. They
 * only read.
 */

/** First line of the output, after an empty one. Login scripts may print text before it, even without a line end. */
export const POLL_MARKER = 'portcullis 1'

/** Directories that the script for Linux reads. Tests use others. */
export interface PollRoots {
  sys: string
  etc: string
}

/**
 * Returns the script for a POSIX shell. It is one line without single quotes, `!` and double backslashes. Any login
 * shell (sh, bash, zsh, fish, csh) therefore accepts it in single quotes.
 *
 * Linux: the script prints no byte of a device directly. The shell reads all values, ends each with NUL and passes them
 * through one `od`; each descriptor has its own `od`. The headings contain only names from the kernel. The script needs
 * three processes, one more per device and one more per HID function.
 *
 * macOS: JSON and XML escape line ends and `<`, so no device can print a line that starts a section. The plain format of
 * `ioreg` escapes nothing (IOKitTools, cfstringshow), hence `-a`.
 */
export const posixScript = ({ sys, etc }: PollRoots): string =>
  [
    'exec 2>/dev/null;',
    'PATH=/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin; LC_ALL=C; export PATH LC_ALL;',
    'u=$(uname -snrm);',
    `printf "%s\\n" "" "${POLL_MARKER}" "\${u%% *}";`,
    'case "$u" in',
    'Linux*)',
    'command -v od >/dev/null || { echo "error od"; exit 0; };',
    `r=${sys}; b=$r/bus/usb/devices;`,
    // A kernel without USB has no such directory, so the host has no devices. An unreadable directory is an error.
    'if [ -r $b ] && [ -x $b ]; then :; elif [ -d $r/bus/usb ]; then echo "error denied"; elif [ -d $r/bus ]; then :;',
    'else echo "error denied"; fi;',
    'v() { [ -r "$1" ] && while IFS= read -r l || [ -n "$l" ]; do printf "%s\\n" "$l"; done <"$1"; printf "\\0"; };',
    'set --; for d in $b/[0-9]*-[0-9]*; do case "$d" in *:*) ;; *) [ -d "$d" ] && set -- "$@" "$d";; esac; done;',
    '{',
    `printf "%s\\0" "$u"; o=${etc}/os-release; [ -r $o ] || o=/usr/lib/os-release; v $o; v ${etc}/debian_version;`,
    'for f in sys_vendor product_name chassis_type product_sku; do v $r/class/dmi/id/$f; done;',
    `v ${etc}/machine-id;`,
    'for n in $r/class/net/*; do case "$n" in */lo|*/veth*) ;;',
    `*) printf "n\\0%s\\0" "\${n##*/}"; v "$n/address"; v "$n/operstate";; esac; done;`,
    `for d do printf "d\\0%s\\0" "\${d##*/}";`,
    'for f in authorized speed removable manufacturer product serial configuration; do v "$d/$f"; done; done;',
    `for d do n=\${d##*/}; printf "c\\0%s\\0%s\\0" "$n" "$(cd "$d" && pwd -P)"; v "$b/usb\${n%%-*}/version"; done;`,
    '} | od -An -v -tx1;',
    `for d do printf "= %s\\n" "\${d##*/}"; od -An -v -tx1 "$d/descriptors";`,
    `for h in "$d"/*:*/*:*:*/report_descriptor; do [ -r "$h" ] && { i=\${h%/*/*}; printf "+ %s\\n" "\${i##*/}";`,
    'od -An -v -tx1 "$h"; }; done; done;',
    'echo end;;',
    'Darwin*)',
    'printf "%s\\n" "<portcullis host>" "$u" "$(sw_vers -productVersion)" "$(sysctl -n hw.model)"; ifconfig -a;',
    'printf "\\n<portcullis profiler>\\n"; system_profiler -json SPUSBDataType SPUSBHostDataType;',
    // Use a pipe, because ioreg opens /dev/stdout by name to write a property list.
    'printf "\\n<portcullis registry>\\n"; ioreg -a -l -p IOUSB | cat;',
    'printf "\\n<portcullis interfaces>\\n"; ioreg -a -l -r -d 1 -c IOUSBHostInterface | cat;',
    'printf "\\n<portcullis end>\\n";;',
    'esac',
  ].join(' ')

/** Command for the SSH server on Linux and macOS. */
export const POSIX_COMMAND = `sh -c '${posixScript({ sys: '/sys', etc: '/etc' })}'`

/** Maximum number of attached devices and interfaces to query on Windows. */
const MAX_WINDOWS_NODES = 2_000

/**
 * The script for Windows PowerShell 3 and later. It queries IDs, class GUIDs and numbers, because texts are localised. The
 * product string is the original one of the device. It prints only ASCII (other characters as JSON escapes), whatever the
 * code page. The encoded script must fit in the 8,191 characters of a command line of cmd.exe.
 *
 * It reads `Capabilities` from the registry: bit 4 (UniqueID) means that the last part of the ID is a serial number of the
 * device. For a serial number with `&`, nothing else shows this. It uses .NET, because `/` splits a path in PowerShell.
 */
const windowsScript = [
  "$ErrorActionPreference='SilentlyContinue';$ProgressPreference='SilentlyContinue'",
  // A user without WMI permissions is refused here. The error message is localised, but its category is not.
  '$o=Get-CimInstance Win32_OperatingSystem -EV x',
  "$denied=@($x|?{$_.CategoryInfo.Category -eq 'PermissionDenied'}).Count -gt 0",
  '$c=Get-CimInstance Win32_ComputerSystem;$e=@(Get-CimInstance Win32_SystemEnclosure)[0]',
  "$d=@(Get-PnpDevice -PresentOnly|?{$_.InstanceId -like 'USB\\*'})",
  "if(!$d.Count){$d=@(Get-CimInstance Win32_PnPEntity|?{$_.PNPDeviceID -like 'USB\\*'})}",
  `$d=@($d|Select -First ${MAX_WINDOWS_NODES});$p=@{}`,
  "$k='BusReportedDeviceDesc','LocationPaths','Parent'|%{\"DEVPKEY_Device_$_\"}",
  'Get-PnpDeviceProperty -InstanceId @($d|%{$_.PNPDeviceID}) -KeyName $k|%{$p[$_.InstanceId+$_.KeyName]=$_.Data}',
  '$u=@($d|%{$i=$_.PNPDeviceID',
  '[pscustomobject]@{InstanceId=$i;HardwareID=@($_.HardwareID);CompatibleID=@($_.CompatibleID);ClassGuid=$_.ClassGuid;Service=$_.Service',
  'Capabilities=[Microsoft.Win32.Registry]::GetValue("HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Enum\\$i",\'Capabilities\',$null)',
  'BusReportedDeviceDesc=$p[$i+$k[0]];LocationPaths=@($p[$i+$k[1]]);Parent=$p[$i+$k[2]]}})',
  '$n=@(Get-CimInstance Win32_NetworkAdapterConfiguration|?{$_.MACAddress}|Select -First 64 Description,MACAddress,IPAddress,IPEnabled)',
  '$a=$env:PROCESSOR_ARCHITEW6432;if(!$a){$a=$env:PROCESSOR_ARCHITECTURE}',
  '$m=[Microsoft.Win32.Registry]::GetValue("HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography","MachineGuid",$null)',
  '$j=[pscustomobject]@{Host=$env:COMPUTERNAME;Dns=$c.DNSHostName;Os=$o.Caption;Version=$o.Version;Architecture=$a',
  'Manufacturer=$c.Manufacturer;Model=$c.Model;Sku=$c.SystemSKUNumber;Chassis=@($e.ChassisTypes)[0];Denied=$denied;Machine=$m;Nics=$n;Devices=$u}|ConvertTo-Json -Depth 4 -Compress',
  "$j=[regex]::Replace($j,'[^ -~]',{param($m)'\\u{0:x4}' -f [int][char]$m.Value})",
  `[Console]::Out.Write("\`n${POLL_MARKER}\`nWindows\`n$j\`nend\`n")`,
].join('\n')

/** Command for the SSH server on Windows. It works with cmd.exe and PowerShell as the login shell. */
export const WINDOWS_COMMAND = `powershell -NoProfile -NonInteractive -EncodedCommand ${Buffer.from(windowsScript, 'utf16le').toString('base64')}`

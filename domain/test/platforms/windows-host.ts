/** A node of the device tree in the output of the script. Omitted fields are absent or null. */
export interface WindowsNode {
  InstanceId?: string
  DeviceID?: string
  HardwareID?: string | string[]
  CompatibleID?: string | string[] | null
  ClassGuid?: string
  Service?: string | null
  Capabilities?: number | null
  BusReportedDeviceDesc?: string | null
  LocationPaths?: (string | null)[] | string
  Parent?: string | null
}

/** Builds the output of the script on Windows. */
export const windowsAnswer = (devices: unknown, more: Record<string, unknown> = {}): string =>
  `portcullis 1\nWindows\n${JSON.stringify({
    ...{ Host: 'PC-7', Dns: 'pc-7', Os: 'Microsoft Windows 11 Pro', Version: '10.0.22631', Architecture: 'AMD64' },
    ...{
      Manufacturer: 'LENOVO',
      Model: '20XW',
      Sku: 'LENOVO_MT_20XW',
      Chassis: 10,
      Denied: false,
      Nics: null,
      Machine: 'a1b2c3d4-0000-4000-8000-00000000000f',
    },
    ...more,
    Devices: devices,
  })}\nend\n`

/** The Debian packages of a container image: exact versions with their digests, and the files that the image needs. */

export interface DebianPackage {
  name: string
  version: string
  /** Name of the source package, for the address of its source. */
  source: string
  /** SPDX expression of the files that the image contains. */
  licence: string
  why: string
  sha256: Record<'amd64' | 'arm64', string>
  /** Patterns of tar. `TRIPLET` and `LOADER` depend on the architecture. */
  files: readonly string[]
}

export const DEBIAN: { suite: string; release: number; packages: readonly DebianPackage[] } = {
  suite: 'trixie',
  release: 13,
  packages: [
    {
      name: 'libc6',
      version: '2.41-12+deb13u5',
      source: 'glibc',
      licence: 'LGPL-2.1-or-later',
      why: 'the C library of Node and PostgreSQL',
      sha256: {
        amd64: 'b59b0625cd1a791375d40dab23a4d5d3d0641e3d0a773501becdc3725b7f99cf',
        arm64: '0966fc3da1a26cc57647c68b5736f791b6e7eb498173a7993f63b6c89b4ed4f5',
      },
      files: ['./usr/lib/TRIPLET/*.so*', 'LOADER', './usr/share/doc/libc6/copyright'],
    },
    {
      name: 'libc-bin',
      version: '2.41-12+deb13u5',
      source: 'glibc',
      licence: 'LGPL-2.1-or-later',
      why: 'the locale C.UTF-8 of the database',
      sha256: {
        amd64: 'f30ee7381a9c6a3936165259bcd58e65f4b288e351606d200c8435724c5876dd',
        arm64: '889850625c686a6d0b26a8baee5fb96f33e9f3305882f3a6751bb4c9433063e1',
      },
      files: ['./usr/lib/locale/C.utf8', './usr/share/doc/libc-bin/copyright'],
    },
    {
      name: 'libgcc-s1',
      version: '14.2.0-19',
      source: 'gcc-14',
      licence: 'GPL-3.0-or-later WITH GCC-exception-3.1',
      why: 'a library of Node',
      sha256: {
        amd64: '3c71917b490d1a17aed43196a2787a256ecf060526cdb20216a74bedc061b150',
        arm64: '1108bc87879833d6d9a145f22a4a15cddb34e065b4b5f4b97bee586adbac2851',
      },
      files: ['./usr/lib/TRIPLET/*.so*', './usr/share/doc/libgcc-s1'],
    },
    {
      name: 'libstdc++6',
      version: '14.2.0-19',
      source: 'gcc-14',
      licence: 'GPL-3.0-or-later WITH GCC-exception-3.1',
      why: 'a library of Node',
      sha256: {
        amd64: 'ab1fa05837aa7a92aae748fd07a18a35f7d18bb4a71c4724fe2bbf0e32089de0',
        arm64: '6669b0c52a2e7c6af9adfdabce3ff6e286065cdfbc7b85280862b5f799daebee',
      },
      files: ['./usr/lib/TRIPLET/*.so*', './usr/share/doc/libstdc++6'],
    },
    {
      name: 'gcc-14-base',
      version: '14.2.0-19',
      source: 'gcc-14',
      licence: 'GPL-3.0-or-later WITH GCC-exception-3.1',
      why: 'the licence of the two libraries before',
      sha256: {
        amd64: '5b6825de4263824b78c4c51f6476414f3b4e89c2ab63e81dc8b9b5501e867cf6',
        arm64: '34ee90679b018c0e64234747a4c4c0ae6b7f63541115037465a8627c2dfbc594',
      },
      files: ['./usr/share/doc/gcc-14-base/copyright'],
    },
    {
      name: 'dash',
      version: '0.5.12-12',
      source: 'dash',
      licence: 'BSD-3-Clause',
      why: 'the shell that initdb starts its programs with',
      sha256: {
        amd64: 'a8902cb6d8650134764a25fb80aec8589d858ef71ece1680a62e84816c37bb04',
        arm64: 'ce4c8688a1a3ea510186ba95aba74d4c49863094e47e1effc0b602839e840c04',
      },
      files: ['./usr/bin/*', './usr/share/doc/dash/copyright'],
    },
    {
      name: 'base-files',
      version: '13.8+deb13u8',
      source: 'base-files',
      licence: 'GPL-2.0-or-later',
      why: 'the name of the system, and texts of licences',
      sha256: {
        amd64: 'f5a0546098f38bad5843380521781fe7214e5a283d3bed63f79c505545f262af',
        arm64: '893616b7ce203a05a0528652f7d754cc5e3de7e8eff3b396f95383a5b8b1c668',
      },
      files: ['./usr/lib/os-release', './usr/share/common-licenses', './usr/share/doc/base-files/copyright'],
    },
  ],
}

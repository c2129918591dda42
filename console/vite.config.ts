import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compress } from './vite/compress.ts'
import { shell } from './vite/shell.ts'
import { createSignInFile } from './vite/sign-in-files.ts'
import { slimContract } from './vite/slim-contract.ts'

const fromHere = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  plugins: [slimContract(), react(), shell(), compress()],
  build: {
    outDir: '../build/console',
    emptyOutDir: true,
    target: 'es2022',
    // The polyfill is an inline-able script that no browser we target needs.
    modulePreload: { polyfill: false },
    // One stylesheet in the initial load, so that no page can fail or render without its styles.
    cssCodeSplit: false,
    // Never data: URIs for scripts or styles: the content security policy names 'self' only.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      // The page starts with one of the last two.
      input: {
        index: fromHere('index.html'),
        signIn: fromHere('src/app/sign-in.tsx'),
        main: fromHere('src/app/main.tsx'),
      },
      output: {
        codeSplitting: {
          // Three files instead of 40: each file costs a round trip, and a browser opens six connections at most.
          groups: [
            // Modules of the sign-in page, which the application also needs.
            { name: createSignInFile('start'), tags: ['$initial'], priority: 3 },
            { name: 'vendor', test: /[\\/]node_modules[\\/]/, tags: ['$initial'], priority: 2 },
            // Without the entry, which decides what runs.
            { name: 'app', test: /[\\/](?!entry\.ts$|index\.html)[^\\/]+$/, tags: ['$initial'], priority: 1 },
          ],
        },
      },
    },
  },
})

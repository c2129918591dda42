import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compress } from './vite/compress.ts'
import { shell } from './vite/shell.ts'
import { slimContract } from './vite/slim-contract.ts'

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
      output: {
        codeSplitting: {
          // Two files instead of 17: each file costs a round trip, and a browser opens six connections at most.
          groups: [
            // `global.css` comes first, because it declares the order of the layers.
            {
              name: 'vendor',
              test: /[\\/]node_modules[\\/]|[\\/]app[\\/]global\.css$/,
              tags: ['$initial'],
              priority: 2,
            },
            { name: 'app', tags: ['$initial'], priority: 1 },
          ],
        },
      },
    },
  },
})

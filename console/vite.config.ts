import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { shell } from './vite/shell.ts'
import { slimContract } from './vite/slim-contract.ts'

export default defineConfig({
  plugins: [slimContract(), react(), shell()],
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
  },
})

import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { slimContract } from './vite/slim-contract.ts'

export default defineConfig({
  plugins: [slimContract(), react()],
  build: {
    outDir: '../build/console',
    emptyOutDir: true,
    target: 'es2022',
    // The polyfill is an inline-able script that no browser we target needs.
    modulePreload: { polyfill: false },
    // Never data: URIs for scripts or styles: the content security policy names 'self' only.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
  },
})

import { defineConfig } from "vite";

export default defineConfig({
  base: "/ui/",
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // data: addresses are closed by the content security policy
    sourcemap: false,
    reportCompressedSize: false,
    // Every page's file is called page.tsx; what is fetched is called after its directory.
    rolldownOptions: { output: { chunkFileNames: (c) => `assets/${/src\/(\w+)\/page/.exec(c.facadeModuleId ?? "")?.[1] ?? "[name]"}-[hash].js` } },
  },
  server: { proxy: { "/api": "http://127.0.0.1:8000", "/ui/session": "http://127.0.0.1:8000" } },
});

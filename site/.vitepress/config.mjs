import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { defineConfig } from 'vitepress'
import { links } from './links.mjs'

const root = path.resolve(import.meta.dirname, '../..')
const read = (file) => readFileSync(path.join(root, file), 'utf8')

// scripts/site sets these variables: the version of these pages, and all versions that it builds.
const version = process.env.SITE_VERSION ?? 'main'
const versions = (process.env.SITE_VERSIONS ?? version).split(' ')
const forge = `https://${read('go.mod').match(/^module (.*)$/m)[1]}`

// sidebar.json has the pages, grouped by the steps of a reader, from first to last. A folder stands for all its pages.
// The title of a page is the text after its name in sidebar.json or, without such a text, the page's heading.
const steps = Object.entries(JSON.parse(read('site/sidebar.json')))
const pagesBelow = (folder) => readdirSync(path.join(root, folder)).filter((name) => name.endsWith('.md')).sort()
  .sort((a, b) => (b === 'README.md') - (a === 'README.md')).map((name) => folder + name)

const title = (page) => read(page).match(/^# (.*)$/m)[1].replaceAll('`', '')
const rewrite = (page) => page.replace(/^site\//, '').replace(/\/README\.md$/, '/index.md')
const item = (page, text = title(page)) => ({ text, link: '/' + rewrite(page).replace(/index\.md$/, '') })
const folder = (name) => {
  const items = pagesBelow(name).map((page) => item(page))
  const hasPage = existsSync(path.join(root, name, 'README.md'))
  const text = path.basename(name)
  return { ...(hasPage ? items.shift() : { text: text[0].toUpperCase() + text.slice(1) }), collapsed: true, items }
}
const entry = (name) => {
  const [page, text] = name.split(/ (.*)/)
  return page.endsWith('/') ? folder(page) : item(page, text)
}

const icon = 'data:image/svg+xml;base64,' + Buffer.from(read('operator/config/manifests/icon.svg')).toString('base64')

// Vue is in the node_modules of the folder site. When pages in other folders are rendered, they do not find Vue there.
const vueOutside = {
  name: 'vue-outside',
  enforce: 'pre',
  resolveId: (id, _, { ssr }) => (ssr && /^vue(\/|$)/.test(id) ? { id, external: true } : undefined),
}

export default defineConfig({
  title: title('README.md'),
  description: 'Runs memcached on Kubernetes and OpenShift, and keeps the keys in a rollout.',
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: icon }],
    ['style', {}, 'html:root { --vp-c-text-3: var(--vp-c-text-2) }'], // the color of the theme is hard to read
  ],
  // VitePress reads the pages in place. Each page has the same path on the site as in the repository.
  srcDir: root,
  srcExclude: ['!(docs|gitops|site)/**/*', 'gitops/*/**', 'site/node_modules/**'],
  rewrites: rewrite,
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-default' }, // with enough contrast
    config: (md) => links(md, { root, forge, version, rewrite }),
    languages: [{ name: 'promql', scopeName: 'source.promql', patterns: [], repository: {} }], // not in Shiki
    // These are the same anchors as on the forge, so that a link works in both places.
    anchor: { slugify: (text) => text.trim().toLowerCase().replace(/[^\p{L}\p{N}\-_ ]/gu, '').replaceAll(' ', '-') },
  },
  vite: { plugins: [vueOutside], build: { chunkSizeWarningLimit: 2000 } }, // the longest page has 1 MB
  themeConfig: {
    logo: { src: icon, alt: '' },
    // Short words, such as "a", match only themselves. Otherwise the longest sections would have the most matches in
    // nearly all searches.
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          searchOptions: {
            fuzzy: (word) => word.length > 3 && 0.2,
            prefix: (word) => word.length > 3,
            boost: { title: 8, text: 2, titles: 1 },
          },
        },
      },
    },
    outline: [2, 3],
    sidebar: steps.map(([text, pages]) => ({ text, items: pages.map(entry) })),
    nav: [
      { text: 'Documentation', link: '/docs/' },
      { text: version, items: versions.map((text) => ({ text, link: `/../${text}/`, target: '_self' })) },
    ],
    socialLinks: [{ icon: 'github', link: forge, ariaLabel: 'Source' }],
  },
})

import { existsSync, statSync } from 'node:fs'
import path from 'node:path'

// links is a markdown-it plugin for pages that are written for the forge. It changes a link to a page so that it leads
// to that page on the site, and a link to another file of the repository so that it leads to the forge. It removes
// badges, because other sites draw them, and the site must not need other sites.
export function links(md, { root, forge, version, rewrite }) {
  const isExternal = (url) => /^(?:[a-z]+:|\/\/)/i.test(url)
  const isPage = (file) => existsSync(path.join(root, file)) &&
    (/^(docs|site)\/.*\.md$|^[^/]+\.md$/.test(file) || file === 'gitops/README.md')

  const resolve = (url, from) => {
    const [target, fragment] = url.split('#')
    if (target === '' || isExternal(url)) return url
    const hash = fragment === undefined ? '' : '#' + fragment
    const file = path.posix.join(path.posix.dirname(from), decodeURI(target)).replace(/\/$/, '')
    for (const page of [file, file + '/README.md']) {
      if (isPage(page)) return '/' + rewrite(page) + hash
    }
    const kind = statSync(path.join(root, file)).isDirectory() ? 'tree' : 'blob'
    return `${forge}/${kind}/${version}/${file}${hash}`
  }

  const isBadge = (token) => token?.type === 'image' && isExternal(token.attrGet('src'))
  const isOfBadge = (token, i, all) => isBadge(token) || (token.type === 'link_open' && isBadge(all[i + 1])) ||
    (token.type === 'link_close' && isBadge(all[i - 1]))

  md.core.ruler.push('links of the repository', ({ tokens, env }) => {
    const from = path.relative(root, env.realPath ?? env.path)
    for (const block of tokens) {
      // Vue would treat a path that does not begin with a dot as the name of a package.
      if (block.type === 'html_block') block.content = block.content.replace(/src="(?=\w[^:"]*")/g, 'src="./')
      block.children &&= block.children.filter((token, i, all) => !isOfBadge(token, i, all))
      for (const token of block.children ?? []) {
        if (token.type === 'link_open') token.attrSet('href', resolve(token.attrGet('href'), from))
      }
    }
  })
}

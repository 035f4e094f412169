import { existsSync, statSync } from 'node:fs'
import path from 'node:path'

// A markdown-it plugin for pages that are written for the forge: a link to a page leads to that page of the site, and one to
// another file of the repository leads to the forge. Pictures of other sites, such as badges, are left out, so that the site
// needs nothing but itself.
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

  md.core.ruler.push('links of the repository', ({ tokens, env }) => {
    const from = path.relative(root, env.realPath ?? env.path)
    for (const token of tokens.flatMap((block) => block.children ?? [block])) {
      if (token.type === 'html_block') token.content = token.content.replace(/src="(?=\w[^:"]*")/g, 'src="./')
      if (token.type === 'link_open') token.attrSet('href', resolve(token.attrGet('href'), from))
    }
  })
  const image = md.renderer.rules.image
  md.renderer.rules.image = (tokens, i, ...rest) => (isExternal(tokens[i].attrGet('src')) ? '' : image(tokens, i, ...rest))
}

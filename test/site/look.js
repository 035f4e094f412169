// look returns what a reader sees of a page: its links and anchors, its width, and what is hard to read in light and in
// dark, within an element.
function look(selector) {
	const still = document.createElement('style');
	still.textContent = '* { transition: none !important; animation: none !important }';
	document.head.append(still);
	const hard = ['light', 'dark'].flatMap((scheme) => {
		document.documentElement.classList.toggle('dark', scheme === 'dark');
		return hardToRead(document.querySelector(selector)).map((text) => `${scheme}: ${text}`);
	});
	const main = document.querySelector('.VPContent');
	return {
		hard,
		links: [...document.links].map((link) => link.href),
		content: [...main.querySelectorAll('a[href]')].map((link) => link.href),
		anchors: [...document.querySelectorAll('[id]')].map((element) => element.id),
		mustaches: (main.innerText.match(/{{/g) ?? []).length,
		width: document.documentElement.scrollWidth,
	};
}

// hardToRead returns the texts below an element that have less contrast than 4.5 to what is painted behind them.
function hardToRead(root) {
	const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
	const paint = ([color, opacity]) => {
		canvas.globalAlpha = opacity;
		canvas.fillStyle = color;
		canvas.fillRect(0, 0, 1, 1);
	};
	const luminance = () => {
		const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) => {
			const part = value / 255;
			return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
		});
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const contrasts = new Map();
	const contrast = (text, layers) => {
		const key = JSON.stringify([text, layers]);
		if (!contrasts.has(key)) {
			layers.toReversed().forEach(paint);
			const behind = luminance();
			paint(text);
			const [light, dark] = [luminance(), behind].sort((a, b) => b - a);
			contrasts.set(key, (light + 0.05) / (dark + 0.05));
		}
		return contrasts.get(key);
	};

	const style = (element) => getComputedStyle(element);
	const ancestors = (element) => (element ? [element, ...ancestors(element.parentElement)] : []);
	const layersOf = (element) => ancestors(element).map((ancestor) => [style(ancestor).backgroundColor, 1]);
	const opacityOf = (element) => ancestors(element).reduce((product, ancestor) => product * style(ancestor).opacity, 1);
	const shapesBehind = (text) => {
		const box = text.getBoundingClientRect();
		return document.elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2)
			.filter((element) => element instanceof SVGGeometryElement && style(element).fill !== 'none')
			.map((shape) => [style(shape).fill, style(shape).fillOpacity]);
	};

	const found = [];
	const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const element = walker.currentNode.parentElement;
		const text = walker.currentNode.data.trim();
		if (text === '' || !element.checkVisibility({ visibilityProperty: true })) continue;
		const inPicture = element instanceof SVGElement;
		const opacity = opacityOf(element);
		if (opacity === 0 && !inPicture) continue; // shown under the mouse
		const { fill, color } = style(element);
		const layers = [...(inPicture ? shapesBehind(element) : []), ...layersOf(element)];
		const ratio = contrast([inPicture ? fill : color, opacity], layers);
		if (ratio < 4.5) found.push(`${text}: contrast ${ratio.toFixed(2)}`);
	}
	return [...new Set(found)];
}

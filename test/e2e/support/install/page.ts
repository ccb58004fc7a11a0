/** The shell blocks of a page that explains an installation: what a reader types, and which of it a test leaves out. */

export interface PageBlock {
  readonly language: 'sh' | 'console';
  readonly text: string;
  /** Of the part of the page: its heading of level 2. */
  readonly part: string;
  /** Why a test does not run it, as the line above the block says to readers; absent: it is run. */
  readonly reason?: string;
}

const HEADING = /^## (.+)$/;
const REASON = /^_Not run in the test: (.+)_$/;
const FENCE = /^```(.*)$/;

/** In their order. Blocks of other languages, and output without one, are no commands. */
export const pageBlocks = (markdown: string): PageBlock[] => {
  const blocks: PageBlock[] = [];
  let part = '';
  let above = '';
  let open: { language: string; lines: string[] } | undefined;
  for (const line of markdown.split('\n')) {
    const fence = FENCE.exec(line)?.[1];
    if (open !== undefined && fence !== '') open.lines.push(line);
    else if (open !== undefined) {
      blocks.push(...blockOf(open.language, { text: open.lines.join('\n'), part }, above));
      open = undefined;
      above = '';
    } else if (fence !== undefined) open = { language: fence, lines: [] };
    else {
      part = HEADING.exec(line)?.[1] ?? part;
      if (line.trim() !== '') above = line.trim();
    }
  }
  return blocks;
};

const blockOf = (language: string, block: Pick<PageBlock, 'text' | 'part'>, above: string): PageBlock[] => {
  if (language !== 'sh' && language !== 'console') return [];
  const reason = REASON.exec(above)?.[1];
  return [{ language, ...block, ...(reason === undefined ? {} : { reason }) }];
};

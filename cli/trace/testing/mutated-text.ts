/** What becomes of real text when somebody takes lines out of it, puts others in, or cuts it off. */
import fc from 'fast-check';

export const mutatedText = <Name extends string>(
  names: readonly Name[],
  read: (name: Name) => string,
): fc.Arbitrary<string> =>
  fc.tuple(fc.constantFrom(...names), fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.string()))).map(([name, edits]) => {
    const lines = read(name).split('\n');
    for (const [position, what, text] of edits) {
      const at = position % lines.length;
      if (what === 0) lines.splice(at, 1);
      else if (what === 1) lines.splice(at, 0, text);
      else if (what === 2) lines[at] = `${lines[at]}${text}`;
      else lines.splice(at, lines.length);
    }
    return lines.join('\n');
  });

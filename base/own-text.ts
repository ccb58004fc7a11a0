/**
 * The same text in memory of its own. V8 keeps a text for as long as a slice of it, and with a text that was put together the parts' places, even
 * when it has been made one. For what is kept, and there are many of.
 * @param text any; only one in Latin-1, as names of objects are, is copied
 */
export const ownText = (text: string): string => {
  const own = Buffer.from(text, 'latin1').toString('latin1');
  return own === text ? own : text;
};

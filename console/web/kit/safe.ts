// What comes from outside never becomes markup or code: Preact writes text as text, and addresses pass safeHref.

/** safeHref returns an address that came from outside if it is one of http or https, else undefined: no link. */
export function safeHref(address: string): string | undefined {
  try {
    const url = new URL(address);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** visible replaces control characters and marks that change the direction of text by signs that can be seen. */
export function visible(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g,
    (mark) => `\u27e8U+${mark.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}\u27e9`,
  );
}

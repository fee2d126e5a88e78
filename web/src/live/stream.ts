// Server-sent events (HTML Living Standard, 9.2) read from an answer's body. EventSource cannot send the session's header.

export interface StreamEvent {
  id: string; // "": none
  type: string;
  data: string;
}

/** Takes the text of a stream piece by piece and gives the events that are whole. */
export class EventParser {
  private rest = "";
  private id = "";
  private type = "";
  private data: string[] = [];

  push(piece: string): StreamEvent[] {
    const found: StreamEvent[] = [];
    const lines = (this.rest + piece).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.line(line.endsWith("\r") ? line.slice(0, -1) : line, found);
    return found;
  }

  private line(line: string, found: StreamEvent[]): void {
    if (line === "") {
      if (this.data.length) found.push({ id: this.id, type: this.type || "message", data: this.data.join("\n") });
      this.id = this.type = "";
      this.data = [];
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return; // a comment
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "data") this.data.push(value);
    else if (name === "event") this.type = value;
    else if (name === "id") this.id = value;
  }
}

/** Reads events until the stream ends. */
export async function readEvents(body: ReadableStream<Uint8Array>, take: (event: StreamEvent) => void): Promise<void> {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const event of parser.push(decoder.decode(value, { stream: true }))) take(event);
  }
}

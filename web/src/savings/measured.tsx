/** What of these numbers is measured, and what is estimated. */
export function Measured() {
  return (
    <section class="card measured" aria-labelledby="measured">
      <h2 id="measured">What is measured, what is estimated</h2>
      <div class="columns">
        <div>
          <h3>Measured</h3>
          <ul>
            <li>
              <b>Paid</b>: the tokens in the provider’s own usage of each answer, read, written to its cache and not, times the price table of <code>secateur prices</code>. Prompts only: answers cost the same either way.
            </li>
            <li>
              <b>Provider cache hits</b>: cached tokens over all prompt tokens, from the same usage.
            </li>
            <li>
              <b>Recovery rate</b>: cut texts that somebody asked for again, over all that were cut. A high one means that too much is cut.
            </li>
          </ul>
        </div>
        <div>
          <h3>Estimated</h3>
          <ul>
            <li>
              <b>Passing through</b>: what the same requests would have cost unchanged. Nobody sent those, so their tokens and their cache hits are worked out from what was sent, scaled to the provider’s usage.
            </li>
            <li>
              <b>Saved and lost</b>: the difference, request by request. Rewriting what a cache had costs more at that request; that is <b>lost</b>, and it is taken off, never left out.
            </li>
            <li>
              <b>Tokens cut</b>: counted by an own tokenizer, a few per cent from the provider’s. Texts cut on MCP’s way have no price here: which model reads them is not known.
            </li>
          </ul>
        </div>
      </div>
    </section>
  );
}

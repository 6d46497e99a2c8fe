"""Human mode: a person does a task on the live screens and is evaluated like an agent."""
